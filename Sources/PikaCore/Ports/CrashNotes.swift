/// What outlives a process that dies, whatever it dies of.
public protocol CrashNotes: Sendable {
    /// What the last process had in flight; nil if it noted nothing, or that cannot be read.
    func readInFlight() -> [UInt8]?
    /// Survives the process, not the machine: it must not wait for the disk.
    ///
    /// - Parameter bytes: 4,000 at most.
    /// - Returns: false if it failed.
    func writeInFlight(_ bytes: [UInt8]) -> Bool
    /// The list of what is set aside; nil if there is none, or it cannot be read.
    func readQuarantine() -> [UInt8]?
    /// Returns when it is on disk; false if it failed.
    func writeQuarantine(_ bytes: [UInt8]) -> Bool
}
