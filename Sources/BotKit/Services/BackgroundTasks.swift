/// Tasks of services that outlive a handler, such as connections and outboxes. The runtime runs them.
package final class BackgroundTasks: Sendable {
    package typealias Work = @Sendable () async -> Void

    private let works: AsyncStream<Work>
    private let next: AsyncStream<Work>.Continuation

    package init() {
        (works, next) = AsyncStream.makeStream()
    }

    /// Starts the work once ``run()`` runs. Services bound the number of works: a connection, outbox or renewal each.
    package func start(_ work: @escaping Work) { next.yield(work) }

    /// Runs works until ``finish()`` or cancellation, which cancels them.
    package func run() async {
        await withDiscardingTaskGroup { group in
            for await work in works { group.addTask { await work() } }
            group.cancelAll()
        }
    }

    /// Cancels all works; ``run()`` returns.
    package func finish() { next.finish() }
}
