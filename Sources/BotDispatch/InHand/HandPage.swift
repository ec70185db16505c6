/// Where it stands which jobs handlers have in hand.
///
/// What is written outlives the process, however that ends. It need not outlive the machine: when the power goes, no
/// handler was to blame. So writing waits for no disk.
package protocol HandPage: Sendable {
    /// What was written last; nil if that was never, or cannot be read.
    func read() -> [UInt8]?
    /// - Parameter bytes: 2,000 at most.
    func write(_ bytes: [UInt8])
}

/// For those who need not know what a process died of.
package struct NoHandPage: HandPage {
    package init() {}
    package func read() -> [UInt8]? { nil }
    package func write(_ bytes: [UInt8]) {}
}
