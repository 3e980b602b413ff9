"""Safe partial parsing for LlamaIndex.

The programs, parsers and the `safe(llm)` wrapper come in a later release; this one
holds the core and the LangChain plugin.
"""

try:
    import llama_index.core as _llama_index_core  # noqa: F401 - the import guard
except ModuleNotFoundError as err:
    if err.name not in {"llama_index", "llama_index.core"}:
        raise
    raise ModuleNotFoundError(
        "llamaindex_partial needs llama-index-core: "
        "pip install 'partial-json-core[llamaindex]'",
        name=err.name,
    ) from err

__all__: list[str] = []
