import Nostr
import Synchronization
import Testing

@testable import PikaCore

/// Concurrent reads of one file.
@Suite struct MediaTurnsTests {
    private let turns = MediaTurns()
    private let fetches = Counted()

    /// A number that concurrent tasks increase.
    private final class Counted: Sendable {
        private let number = Mutex(0)
        var value: Int { self.number.withLock { $0 } }
        func increase() { self.number.withLock { $0 += 1 } }
    }

    private struct Failure: Error {}

    private func file(_ index: Int) throws -> MediaFile {
        MediaFile(chatID: "00aa", messageID: try EventID(bytes: [UInt8](repeating: 7, count: 32)), index: index)
    }

    private func wait(until isDone: () -> Bool) async {
        while !isDone() { await Task.yield() }
    }

    /// Starts a reader whose fetch waits for the end of `gate`, then two more.
    private func readThrice(
        _ file: MediaFile, gate: AsyncStream<Never>, fails: Bool = false
    ) async -> [Task<(bytes: [UInt8], isShared: Bool), any Error>] {
        var readers: [Task<(bytes: [UInt8], isShared: Bool), any Error>] = []
        for number in 0..<3 {
            let reader = Task { [turns, fetches] in
                try await turns.read(file) {
                    fetches.increase()
                    for await _ in gate {}
                    if fails { throw Failure() }
                    try Task.checkCancellation()
                    return [1]
                }
            }
            readers.append(reader)
            await self.wait { number == 0 ? self.fetches.value == 1 : self.turns.waiting(for: file) == number }
        }
        return readers
    }

    @Test func concurrentReadersShareOneFetch() async throws {
        let file = try self.file(0)
        let (gate, end) = AsyncStream.makeStream(of: Never.self)
        let readers = await self.readThrice(file, gate: gate)
        // Another file is not delayed.
        let other = try await self.turns.read(try self.file(1)) { [2] }
        #expect(other.bytes == [2] && !other.isShared)
        end.finish()
        for (number, reader) in readers.enumerated() {
            let read = try await reader.value
            #expect(read.bytes == [1] && read.isShared == (number > 0))
        }
        #expect(self.fetches.value == 1)
        // A later reader fetches again.
        let later = try await self.turns.read(file) { [3] }
        #expect(later.bytes == [3] && !later.isShared)
    }

    @Test func concurrentReadersShareFailure() async throws {
        let (gate, end) = AsyncStream.makeStream(of: Never.self)
        let readers = await self.readThrice(try self.file(0), gate: gate, fails: true)
        end.finish()
        for reader in readers { await #expect(throws: Failure.self) { try await reader.value } }
        #expect(self.fetches.value == 1)
    }

    @Test func cancelledFetchPassesTurn() async throws {
        let file = try self.file(0)
        let (gate, end) = AsyncStream.makeStream(of: Never.self)
        let readers = await self.readThrice(file, gate: gate)
        // A waiting reader leaves, then the fetching one.
        readers[1].cancel()
        await #expect(throws: CancellationError.self) { try await readers[1].value }
        #expect(self.turns.waiting(for: file) == 1)
        readers[0].cancel()
        await #expect(throws: CancellationError.self) { try await readers[0].value }
        end.finish()
        let read = try await readers[2].value
        #expect(read.bytes == [1] && !read.isShared && self.fetches.value == 2)
    }
}
