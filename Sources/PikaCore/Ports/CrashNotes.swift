/// Notes that survive a crash of the process, whatever its cause.
package protocol CrashNotes: Sendable {
    /// Reads the in-flight note of the last process; nil if absent or unreadable.
    func readInFlight() -> [UInt8]?
    /// Writes the in-flight note. It must survive the process, not the machine, so the call must not wait for the disk.
    ///
    /// - Parameter bytes: at most 4,000.
    /// - Returns: false if it failed.
    func writeInFlight(_ bytes: [UInt8]) -> Bool
    /// Reads the quarantine list; nil if absent or unreadable.
    func readQuarantine() -> [UInt8]?
    /// Writes the quarantine list; returns when it is on disk, false if that failed.
    func writeQuarantine(_ bytes: [UInt8]) -> Bool
}
