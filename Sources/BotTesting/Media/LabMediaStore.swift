import Nostr
public import PikaCore
import Synchronization

/// The media servers of a lab: uploads are available to all members at once, unless the test chooses faults.
public final class LabMediaStore: MediaStore {
    private struct State {
        /// Blobs by address.
        var blobs: [String: [UInt8]] = [:]
        var down: Set<MediaURL> = []
        var uploads: [MediaUpload] = []
        var holds = false
        var holdsDownloads = false
        var held: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    /// Creates servers without content or faults, one for every address.
    public init() {}

    // MARK: Faults

    /// Makes a server refuse every call, or work again.
    public func setDown(_ isDown: Bool, _ server: MediaURL) {
        self.state.withLock { state in
            if isDown { state.down.insert(server) } else { state.down.remove(server) }
        }
    }

    /// Makes uploads wait from now on, until ``release()``.
    public func hold() {
        self.state.withLock { $0.holds = true }
    }

    /// Makes downloads wait from now on, until they are cancelled.
    public func holdDownloads() {
        self.state.withLock { $0.holdsDownloads = true }
    }

    /// Resumes waiting uploads and stops holding later ones.
    public func release() {
        let held = self.state.withLock { state in
            state.holds = false
            defer { state.held = [] }
            return state.held
        }
        for waiter in held { waiter.resume() }
    }

    /// Replaces the content of all stored blobs.
    public func replaceEverything(with bytes: [UInt8]) {
        self.state.withLock { state in for address in state.blobs.keys { state.blobs[address] = bytes } }
    }

    /// All accepted uploads, in order.
    public var uploads: [MediaUpload] { self.state.withLock { $0.uploads } }

    // MARK: Servers

    /// Stores a blob, after ``release()`` if uploads are held; throws `LabError.Code.injectedFault` if the server is
    /// down.
    public func upload(_ blob: MediaUpload, to server: MediaURL) async throws -> StoredBlob {
        await withCheckedContinuation { continuation in
            let waits = self.state.withLock { state in
                if state.holds { state.held.append(continuation) }
                return state.holds
            }
            if !waits { continuation.resume() }
        }
        let url = server.blob(blob.hash)
        try self.state.withLock { state in
            guard !state.down.contains(server) else { throw LabError(.injectedFault, "the server is down") }
            state.blobs[url.description] = blob.bytes
            state.uploads.append(blob)
        }
        return StoredBlob(url: url.description, hash: blob.hash)
    }

    /// Returns a blob; throws `LabError.Code.injectedFault` if its server is down or lacks it, or it is longer than
    /// `limit` bytes.
    public func download(_ url: MediaURL, limit: Int) async throws -> [UInt8] {
        if self.state.withLock({ $0.holdsDownloads }) {
            let (never, end) = AsyncStream.makeStream(of: Never.self)
            for await _ in never {}
            end.finish()
            throw CancellationError()
        }
        return try self.state.withLock { state in
            guard !state.down.contains(where: { url.description.hasPrefix($0.description) }),
                let blob = state.blobs[url.description], blob.count <= limit
            else { throw LabError(.injectedFault, "the server does not have the file") }
            return blob
        }
    }
}
