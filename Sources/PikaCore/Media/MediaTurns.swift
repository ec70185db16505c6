import Synchronization

/// Lets one reader at a time fetch a file; concurrent readers of the same file share its result.
final class MediaTurns: Sendable {
    private enum Turn: Sendable {
        /// The reader fetches the file.
        case own
        case shared(Result<[UInt8], any Error>)
        case cancelled
    }

    private struct Waiter {
        let id: UInt64
        let turn: CheckedContinuation<Turn, Never>
    }

    private struct State {
        var lastID: UInt64 = 0
        /// The waiting readers of each file that is being fetched, in order.
        var waiting: [MediaFile: [Waiter]] = [:]
    }

    private let state = Mutex(State())

    /// The number of readers that wait for a file.
    func waiting(for file: MediaFile) -> Int { self.state.withLock { $0.waiting[file]?.count ?? 0 } }

    /// Calls `fetch`, or returns or throws what a fetch in progress does. A cancelled fetch is not shared: the next reader
    /// starts its own.
    func read(
        _ file: MediaFile, _ fetch: () async throws -> [UInt8]
    ) async throws -> (bytes: [UInt8], isShared: Bool) {
        switch await self.turn(for: file) {
        case .own: break
        case .shared(let result): return (try result.get(), true)
        case .cancelled: throw CancellationError()
        }
        do {
            let bytes = try await fetch()
            self.share(.success(bytes), of: file)
            return (bytes, false)
        } catch {
            if Task.isCancelled || error is CancellationError {
                self.passTurn(of: file)
            } else {
                self.share(.failure(error), of: file)
            }
            throw error
        }
    }

    private func turn(for file: MediaFile) async -> Turn {
        let id = self.state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Turn, Never>) in
                let turn = self.state.withLock { state -> Turn? in
                    // The handler has found no waiter if the task was cancelled before this point.
                    if Task.isCancelled { return .cancelled }
                    guard state.waiting[file] != nil else {
                        state.waiting[file] = []
                        return .own
                    }
                    state.waiting[file]?.append(Waiter(id: id, turn: continuation))
                    return nil
                }
                if let turn { continuation.resume(returning: turn) }
            }
        } onCancel: {
            let waiter = self.state.withLock { state -> Waiter? in
                guard let place = state.waiting[file]?.firstIndex(where: { $0.id == id }) else { return nil }
                return state.waiting[file]?.remove(at: place)
            }
            waiter?.turn.resume(returning: .cancelled)
        }
    }

    private func share(_ result: Result<[UInt8], any Error>, of file: MediaFile) {
        let waiters = self.state.withLock { $0.waiting.removeValue(forKey: file) ?? [] }
        for waiter in waiters { waiter.turn.resume(returning: .shared(result)) }
    }

    /// Gives the turn to the next reader.
    private func passTurn(of file: MediaFile) {
        let next = self.state.withLock { state -> Waiter? in
            guard var waiters = state.waiting[file], !waiters.isEmpty else {
                state.waiting[file] = nil
                return nil
            }
            let next = waiters.removeFirst()
            state.waiting[file] = waiters
            return next
        }
        next?.turn.resume(returning: .own)
    }
}
