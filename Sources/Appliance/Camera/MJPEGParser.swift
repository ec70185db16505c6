/// Splits a body of type `multipart/x-mixed-replace` (RFC 2046 §5.1) into JPEG pictures.
///
/// Bytes may be split anywhere. A part's length is its `Content-Length`, or ends at the next boundary. A part that is too
/// long or is not a JPEG is dropped, and parsing continues at the next boundary, so that one broken picture does not end
/// the stream. The buffer never exceeds the limits.
package struct MJPEGParser: Sendable {
    package struct Limits: Hashable, Sendable {
        /// Maximum size of a picture in bytes.
        package var pictureBytes: Int
        /// Maximum size of a part's headers in bytes.
        package var headerBytes: Int

        package init(pictureBytes: Int = 2 << 20, headerBytes: Int = 4_096) {
            self.pictureBytes = max(4, pictureBytes)
            self.headerBytes = max(64, headerBytes)
        }
    }

    /// What was dropped so far.
    package struct Losses: Hashable, Sendable {
        package var tooLong = 0
        package var notPictures = 0
        package var badHeaders = 0

        package init() {}
    }

    private enum State: Hashable {
        /// Before the first boundary, or after a fault.
        case searching
        /// Behind a boundary, before the end of its line.
        case boundaryLine
        case headers
        /// In a part with `Content-Length`; bytes left.
        case counted(left: Int)
        /// In a part that ends at the next boundary.
        case delimited
        case ended
    }

    private let delimiter: [UInt8]
    private let limits: Limits
    private var state = State.searching
    private var pending: [UInt8] = []
    private var picture: [UInt8] = []
    /// Bytes of `pending` in which no boundary begins.
    private var searched = 0
    package private(set) var losses = Losses()

    /// Bytes held; bounded by the limits.
    package var heldBytes: Int { self.pending.count + self.picture.count }
    /// Whether the closing boundary was found.
    package var hasEnded: Bool { self.state == .ended }

    /// - Parameter boundary: the parameter `boundary` of the content type, 1 to 70 bytes. Leading hyphens that some
    ///   cameras count among it are accepted.
    package init(boundary: String, limits: Limits = Limits()) throws(ApplianceError) {
        guard (1...70).contains(boundary.utf8.count), boundary.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw ApplianceError(.malformed, "boundary: expected 1 to 70 visible ASCII characters")
        }
        self.delimiter = Array((boundary.hasPrefix("--") ? boundary : "--" + boundary).utf8)
        self.limits = limits
    }

    /// Reads the boundary from the answer's content type, such as `multipart/x-mixed-replace; boundary="frame"`.
    package init(contentType: String, limits: Limits = Limits()) throws(ApplianceError) {
        guard contentType.utf8.count <= 500 else { throw ApplianceError(.tooLarge, "content type: too long") }
        let parts = contentType.split(separator: ";").map { $0.drop { $0 == " " } }
        let parameter = parts.dropFirst().first { $0.lowercased().hasPrefix("boundary=") }
        guard let kind = parts.first, kind.lowercased().hasPrefix("multipart/"), let parameter else {
            throw ApplianceError(.malformed, "content type: expected multipart/x-mixed-replace with a boundary")
        }
        let value = parameter.dropFirst("boundary=".count).filter { $0 != "\"" && $0 != " " }
        try self.init(boundary: value, limits: limits)
    }

    /// Consumes bytes and returns the pictures that they complete, in order.
    package mutating func consume(_ bytes: some Sequence<UInt8>) -> [[UInt8]] {
        guard self.state != .ended else { return [] }
        var pictures: [[UInt8]] = []
        // In portions, so that the buffer stays bounded for input of any length.
        var portion: [UInt8] = []
        for byte in bytes {
            portion.append(byte)
            if portion.count == 4_096 {
                self.read(portion, into: &pictures)
                portion.removeAll(keepingCapacity: true)
            }
        }
        self.read(portion, into: &pictures)
        return pictures
    }

    private mutating func read(_ portion: [UInt8], into pictures: inout [[UInt8]]) {
        self.pending += portion
        while self.step(&pictures) {}
    }

    /// Does one transition; false if it needs more bytes.
    private mutating func step(_ pictures: inout [[UInt8]]) -> Bool {
        switch self.state {
        case .searching: return self.search()
        case .boundaryLine: return self.readBoundaryLine()
        case .headers: return self.readHeaders()
        case .counted(let left): return self.readCounted(left, &pictures)
        case .delimited: return self.readDelimited(&pictures)
        case .ended:
            self.drop(self.pending.count)
            return false
        }
    }

    /// Drops bytes up to a boundary.
    private mutating func search() -> Bool {
        guard let start = self.indexOfDelimiter() else {
            self.drop(max(0, self.pending.count - self.delimiter.count))
            return false
        }
        self.drop(start + self.delimiter.count)
        self.state = .boundaryLine
        return true
    }

    private mutating func readBoundaryLine() -> Bool {
        guard self.pending.count >= 2 else { return false }
        if self.pending[0] == UInt8(ascii: "-"), self.pending[1] == UInt8(ascii: "-") {
            self.picture = []
            self.state = .ended
            return true
        }
        guard let end = self.pending.firstIndex(of: UInt8(ascii: "\n")) else {
            guard self.pending.count <= self.limits.headerBytes else { return self.abandonHeaders() }
            return false
        }
        self.drop(end + 1)
        self.state = .headers
        return true
    }

    private mutating func readHeaders() -> Bool {
        guard let end = self.endOfHeaders() else {
            guard self.pending.count <= self.limits.headerBytes else { return self.abandonHeaders() }
            return false
        }
        guard end <= self.limits.headerBytes else { return self.abandonHeaders() }
        let length = Self.contentLength(self.pending[..<end])
        self.drop(end)
        self.picture = []
        switch length {
        case .none: self.state = .delimited
        case .some(.some(let length)) where length <= self.limits.pictureBytes: self.state = .counted(left: length)
        case .some(.some):
            self.losses.tooLong &+= 1
            self.state = .searching
        case .some(.none):
            self.losses.badHeaders &+= 1
            self.state = .searching
        }
        return true
    }

    private mutating func abandonHeaders() -> Bool {
        self.losses.badHeaders &+= 1
        self.state = .searching
        return true
    }

    private mutating func readCounted(_ left: Int, _ pictures: inout [[UInt8]]) -> Bool {
        let count = min(left, self.pending.count)
        self.picture += self.pending[..<count]
        self.drop(count)
        guard count == left else {
            self.state = .counted(left: left - count)
            return false
        }
        self.finishPicture(&pictures)
        self.state = .searching
        return true
    }

    private mutating func readDelimited(_ pictures: inout [[UInt8]]) -> Bool {
        guard let start = self.indexOfDelimiter() else {
            // A boundary and the line break before it may be incomplete.
            let count = max(0, self.pending.count - self.delimiter.count - 2)
            guard self.picture.count + count <= self.limits.pictureBytes else { return self.abandonPicture() }
            self.picture += self.pending[..<count]
            self.drop(count)
            return false
        }
        guard self.picture.count + start <= self.limits.pictureBytes + 2 else { return self.abandonPicture() }
        self.picture += self.pending[..<start]
        if self.picture.last == UInt8(ascii: "\n") { self.picture.removeLast() }
        if self.picture.last == UInt8(ascii: "\r") { self.picture.removeLast() }
        self.drop(start + self.delimiter.count)
        self.finishPicture(&pictures)
        self.state = .boundaryLine
        return true
    }

    private mutating func abandonPicture() -> Bool {
        self.losses.tooLong &+= 1
        self.picture = []
        self.state = .searching
        return true
    }

    /// Keeps a picture with the marks of a JPEG: SOI at the start and EOI at the end (ITU-T T.81 §B.1.1.3).
    private mutating func finishPicture(_ pictures: inout [[UInt8]]) {
        defer { self.picture = [] }
        let isPicture =
            self.picture.count >= 4 && self.picture.count <= self.limits.pictureBytes
            && self.picture.starts(with: [0xFF, 0xD8]) && self.picture.suffix(2).elementsEqual([0xFF, 0xD9])
        if isPicture { pictures.append(self.picture) } else { self.losses.notPictures &+= 1 }
    }

    // MARK: Bytes

    private mutating func drop(_ count: Int) {
        self.pending.removeFirst(count)
        self.searched = 0
    }

    private mutating func indexOfDelimiter() -> Int? {
        guard self.pending.count >= self.delimiter.count else { return nil }
        let last = self.pending.count - self.delimiter.count
        var start = self.searched
        while start <= last {
            if self.pending[start] == self.delimiter[0],
                self.pending[start..<start + self.delimiter.count].elementsEqual(self.delimiter)
            {
                return start
            }
            start += 1
        }
        self.searched = last + 1
        return nil
    }

    /// The index behind the empty line, with CRLF or LF alone.
    private func endOfHeaders() -> Int? {
        var lineStart = 0
        for index in self.pending.indices where self.pending[index] == UInt8(ascii: "\n") {
            let line = self.pending[lineStart..<index]
            if line.isEmpty || line.elementsEqual([UInt8(ascii: "\r")]) { return index + 1 }
            lineStart = index + 1
        }
        return nil
    }

    /// The value of `Content-Length`: none without the header, `.some(nil)` if it is not a number.
    private static func contentLength(_ headers: ArraySlice<UInt8>) -> Int?? {
        for line in headers.split(separator: UInt8(ascii: "\n")) {
            let parts = String(decoding: line, as: UTF8.self).split(
                separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, parts[0].lowercased() == "content-length" else { continue }
            let digits = parts[1].filter { $0 != " " && $0 != "\t" && $0 != "\r" && $0 != "\r\n" }
            guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return .some(nil) }
            // A number beyond Int is too long in any case.
            return .some(Int(digits) ?? Int.max)
        }
        return nil
    }
}
