/// Lines out of pieces of bytes. A line that is too long is reported once and thrown away up to its end.
public struct LineAssembler: Sendable {
    public enum Piece: Hashable, Sendable {
        case line(String)
        /// A line of more than the limit; it is gone.
        case tooLong
    }

    private let limit: Int
    private var rest: [UInt8] = []
    private var isSkipping = false

    /// - Parameter limit: bytes of the longest line, without its end.
    public init(limit: Int) {
        self.limit = limit
    }

    /// Takes bytes in; calls `body` with what they complete. Bytes that are no UTF-8 are replaced.
    public mutating func take(_ bytes: some Sequence<UInt8>, _ body: (Piece) -> Void) {
        for byte in bytes {
            if byte == UInt8(ascii: "\n") {
                if !self.isSkipping { body(.line(String(decoding: self.rest, as: UTF8.self))) }
                self.rest.removeAll(keepingCapacity: self.rest.capacity < 65_536)
                self.isSkipping = false
            } else if !self.isSkipping {
                self.rest.append(byte)
                guard self.rest.count > self.limit else { continue }
                self.rest = []
                self.isSkipping = true
                body(.tooLong)
            }
        }
    }

    /// What stands after the last line end, at the end of the input.
    public mutating func finish(_ body: (Piece) -> Void) {
        if !self.rest.isEmpty { body(.line(String(decoding: self.rest, as: UTF8.self))) }
        self.rest = []
    }
}
