/// Decides which files of a folder are complete. Pure.
///
/// A file is complete when two scans find the same size and time of change. Hidden files and those that end in `.tmp` or
/// `.part` are never complete, so that programs can write a file and then rename it.
package struct DirectoryScan: Sendable {
    package struct Entry: Sendable, Hashable {
        package var name: String
        package var bytes: Int64
        /// The time of change in microseconds.
        package var changed: Int64

        package init(name: String, bytes: Int64, changed: Int64) {
            self.name = name
            self.bytes = bytes
            self.changed = changed
        }

        /// The id of the file's item: a new file with an old name is another item.
        package var id: String { StreamIDs.fitting("\(name)@\(changed)+\(bytes)") }
    }

    /// The maximum number of files that one scan considers, the oldest first.
    package static let maximumEntries = 1_000

    private var previous: Set<Entry> = []

    package init() {}

    /// Returns the complete files, the oldest first.
    package mutating func receive(_ found: [Entry]) -> [Entry] {
        let entries = found.filter { Self.isCandidate($0.name) }
            .sorted { ($0.changed, $0.name) < ($1.changed, $1.name) }
            .prefix(Self.maximumEntries)
        defer { previous = Set(entries) }
        return entries.filter(previous.contains)
    }

    /// Returns whether a file with this name may be complete.
    package static func isCandidate(_ name: String) -> Bool {
        !name.isEmpty && !name.hasPrefix(".") && !name.hasSuffix(".tmp") && !name.hasSuffix(".part")
    }
}
