/// The storage of the crash journal of in-flight jobs.
///
/// Written data must survive a crash of the process but not of the machine, because handlers do not cause power
/// failures. So a write does not wait for the disk.
package protocol InFlightStorage: Sendable {
    /// Returns the data written last; nil if absent or unreadable.
    func read() -> [UInt8]?
    /// - Parameter bytes: at most 2,000.
    func write(_ bytes: [UInt8])
}

/// A crash journal that stores nothing, for callers that do not need to attribute crashes.
package struct NoInFlightStorage: InFlightStorage {
    package init() {}
    package func read() -> [UInt8]? { nil }
    package func write(_ bytes: [UInt8]) {}
}
