/// One of several processes, on one machine or many, that share the accounts of one configuration file.
///
/// It has the accounts whose position in the file, counted from 0, is `index` modulo `count`: every account is in
/// exactly one shard, and appending accounts does not move others.
package struct Shard: Hashable, Sendable, CustomStringConvertible {
    package let index: Int
    package let count: Int

    /// The environment variable that selects the shard, as an alternative to the option.
    package static let variable = "PIKABOT_SHARD"
    private static let largestCount = 10_000

    /// Parses `INDEX/COUNT`, such as `3/8`.
    ///
    /// - Throws: ``CommandError`` that describes the expected format.
    package init(_ text: String) throws(CommandError) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let index = Self.number(parts[0]), let count = Self.number(parts[1]) else {
            throw CommandError("expected INDEX/COUNT such as 0/8 for the first of eight shards, found \"\(text)\"")
        }
        guard (1...Self.largestCount).contains(count) else {
            throw CommandError("expected a COUNT from 1 to \(Self.largestCount), found \"\(text)\"")
        }
        guard index < count else {
            throw CommandError(
                "expected an INDEX from 0 to \(count - 1), found \"\(text)\"")
        }
        self.index = index
        self.count = count
    }

    private static func number(_ text: Substring) -> Int? {
        text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ? Int(text) : nil
    }

    package var description: String { "\(index)/\(count)" }

    /// Returns whether the shard has the account at this position of the file.
    package func has(position: Int) -> Bool { position % count == index }

    /// Returns a file name for this shard: `control.sock` becomes `control-3.sock`. It does not contain the count, so
    /// that clients find a process that still runs with an earlier count.
    package func path(for path: String) -> String {
        let start = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
        guard let dot = path[start...].lastIndex(of: "."), dot > start else { return "\(path)-\(index)" }
        return "\(path[..<dot])-\(index)\(path[dot...])"
    }
}
