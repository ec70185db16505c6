"""Messages in chunks, as docs/epicura/api.md "Bluetooth" defines them; written independently of the Swift code."""

HEADER = 3


def split(message, number, size):
    """Chunks with at most `size` bytes of content."""
    parts = [message[start:start + size] for start in range(0, len(message), size)] or [b""]
    return [bytes([number, index, len(parts)]) + part for index, part in enumerate(parts)]


class Joiner:
    def __init__(self):
        self.number, self.parts, self.count = None, [], 0

    def add(self, chunk):
        """Returns the message that this chunk completes, or None."""
        number, index, count = chunk[:HEADER]
        if index == 0:
            self.number, self.parts, self.count = number, [], count
        if number != self.number or count != self.count or index != len(self.parts):
            self.number, self.parts = None, []
            return None
        self.parts.append(bytes(chunk[HEADER:]))
        if len(self.parts) < count:
            return None
        self.number = None
        return b"".join(self.parts)
