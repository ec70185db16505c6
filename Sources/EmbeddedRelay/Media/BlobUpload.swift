import NIOCore
import NIOPosix

/// Writes a request's body to a draft on blocking threads, one part after the other.
final class BlobUpload: HTTPBodySink {
    private let blob: EventLoopFuture<IncomingBlob>
    private let eventLoop: any EventLoop
    private let completion: @Sendable (IncomingBlob) throws -> HTTPAnswer
    private var written: EventLoopFuture<Void>

    /// - Parameter completion: called on a blocking thread when the body is complete.
    init(
        _ store: BlobStore, on eventLoop: any EventLoop,
        completion: @escaping @Sendable (IncomingBlob) throws -> HTTPAnswer
    ) {
        self.eventLoop = eventLoop
        self.completion = completion
        blob = NIOThreadPool.singleton.runIfActive(eventLoop: eventLoop) { try store.begin() }
        written = blob.map { _ in }
    }

    func receive(_ part: ByteBuffer) -> EventLoopFuture<Void> {
        let blob = blob
        let eventLoop = eventLoop
        written = written.and(blob).flatMap { _, blob in
            NIOThreadPool.singleton.runIfActive(eventLoop: eventLoop) {
                do { try blob.write(part) } catch {
                    // Discard before the refusal is sent: its receiver may use the space at once.
                    blob.discard()
                    throw error
                }
            }
        }
        return written
    }

    func finish() -> EventLoopFuture<HTTPAnswer> {
        let completion = completion
        let eventLoop = eventLoop
        return written.and(blob).flatMap { _, blob in
            NIOThreadPool.singleton.runIfActive(eventLoop: eventLoop) {
                do { return try completion(blob) } catch {
                    blob.discard()
                    throw error
                }
            }
        }
    }

    func abandon() {
        // Discard after pending writes: otherwise one of them could write to a descriptor that was reused for another
        // file.
        let blob = blob
        written.whenComplete { _ in
            blob.whenSuccess { blob in NIOThreadPool.singleton.submit { _ in blob.discard() } }
        }
    }
}
