"""The embedded model: llama.cpp's OpenAI-compatible server over one weight file."""
