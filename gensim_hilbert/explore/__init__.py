"""The explorer: a page in the browser on the words of one model, or of several, served on this machine only."""
