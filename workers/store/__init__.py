"""The stores of files: directories and object stores behind one interface; atomic files."""
