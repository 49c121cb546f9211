"""A model as a folder without pickle: its files, its model card, and the Hugging Face Hub."""
