# Manual pages and the documents that are installed.
