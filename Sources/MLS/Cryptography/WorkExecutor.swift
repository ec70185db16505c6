/// Runs independent pieces of work, possibly at the same time.
///
/// The library starts no threads: its functions are synchronous, and run on one core unless their caller passes an executor
/// of its own.
public protocol WorkExecutor: Sendable {
    /// The number of pieces that may run at the same time; at least 1.
    var width: Int { get }

    /// Calls the body for each index below `count`, and returns when all have ended, with their results in order.
    func map<Result: Sendable>(_ count: Int, _ body: @Sendable (Int) -> Result) -> [Result]
}

/// Runs one piece after the other on the caller's thread.
public struct SerialWork: WorkExecutor {
    /// Creates the executor.
    public init() {}

    /// One.
    public var width: Int { 1 }

    /// Calls the body for each index below `count`, in order.
    public func map<Result: Sendable>(_ count: Int, _ body: @Sendable (Int) -> Result) -> [Result] {
        (0..<count).map(body)
    }
}

extension WorkExecutor {
    /// Fewer elements do not repay the cost of waking another thread.
    private var smallestPiece: Int { 8 }

    /// Calls the body for each element, in as many pieces as may run at the same time; returns the results in order.
    package func map<Element: Sendable, Result: Sendable>(
        _ elements: [Element], _ body: @Sendable (Element) -> Result
    ) -> [Result] {
        let most = min(self.width, elements.count / self.smallestPiece)
        guard most > 1 else { return elements.map(body) }
        // Rounded up, so that fewer pieces than `most` may suffice.
        let size = (elements.count + most - 1) / most
        return self.map((elements.count + size - 1) / size) { piece in
            elements[(piece * size)..<min(elements.count, (piece + 1) * size)].map(body)
        }.flatMap { $0 }
    }

    /// Calls the body for each element, in pieces as above; returns the error of the first element that fails.
    func firstError<Element: Sendable>(
        in elements: [Element], _ body: @Sendable (Element) throws(MLSError) -> Void
    ) -> MLSError? {
        let errors = self.map(elements) { element -> MLSError? in
            do throws(MLSError) { try body(element) } catch { return error }
            return nil
        }
        return errors.lazy.compactMap { $0 }.first
    }
}
