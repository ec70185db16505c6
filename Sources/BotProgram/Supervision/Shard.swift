/// One of several processes, on one machine or many, that share the accounts of one configuration file.
///
/// Of the accounts in the file's order it has those whose position, counted from 0, leaves `index` when divided by
/// `count`: every account is in exactly one shard, and accounts that are appended move no other.
package struct Shard: Hashable, Sendable, CustomStringConvertible {
    package let index: Int
    package let count: Int

    /// What a shard is asked for by, besides its option.
    package static let variable = "PIKABOT_SHARD"
    private static let largestCount = 10_000

    /// Reads `INDEX/COUNT`, such as `3/8`.
    ///
    /// - Throws: ``CommandError`` in words that say what is expected.
    package init(_ text: String) throws(CommandError) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let index = Self.number(parts[0]), let count = Self.number(parts[1]) else {
            throw CommandError("\"\(text)\" is no shard; write INDEX/COUNT, such as 0/8 for the first of eight")
        }
        guard (1...Self.largestCount).contains(count) else {
            throw CommandError("\"\(text)\" is no shard; COUNT is 1 to \(Self.largestCount)")
        }
        guard index < count else {
            throw CommandError(
                "\"\(text)\" is no shard; INDEX counts from 0, so of \(count) the last one is \(count - 1)/\(count)")
        }
        self.index = index
        self.count = count
    }

    private static func number(_ text: Substring) -> Int? {
        text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ? Int(text) : nil
    }

    package var description: String { "\(index)/\(count)" }

    /// Whether it runs the account at this place of the file.
    package func has(position: Int) -> Bool { position % count == index }

    /// A file's name for this shard alone: `control.sock` is `control-3.sock`. The count is not in it, so that those who
    /// ask find a process that still runs by an earlier count.
    package func own(_ path: String) -> String {
        let start = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
        guard let dot = path[start...].lastIndex(of: "."), dot > start else { return "\(path)-\(index)" }
        return "\(path[..<dot])-\(index)\(path[dot...])"
    }
}
