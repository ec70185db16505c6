import Dispatch
import MLS
import Synchronization

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Runs pieces of work on all processors of this machine; the caller's thread takes part and waits.
package struct SystemWork: WorkExecutor {
    package let width: Int

    /// - Parameter width: the number of processors to use; nil for all.
    package init(width: Int? = nil) {
        self.width = max(1, width ?? Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
    }

    package func map<Result: Sendable>(_ count: Int, _ body: @Sendable (Int) -> Result) -> [Result] {
        let results = Mutex<[Int: Result]>([:])
        DispatchQueue.concurrentPerform(iterations: count) { index in
            let result = body(index)
            results.withLock { $0[index] = result }
        }
        return results.withLock { found in (0..<count).compactMap { found[$0] } }
    }
}
