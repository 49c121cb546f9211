"""Text in: what a corpus can be, how it is opened and cut into blocks, and how blocks get to those who read them."""
