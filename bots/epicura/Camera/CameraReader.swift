import Appliance
import BotKit

/// Takes one picture out of a stream of Motion JPEG.
actor CameraReader {
    /// Ends a stream that has given enough.
    struct Enough: Error {}

    private let clock: any CoreClock
    private let started: Int64
    private var parser: MJPEGParser?
    private var pacer = FramePacer()
    private(set) var picture: [UInt8]?

    init(clock: any CoreClock) {
        self.clock = clock
        started = clock.monotonicMilliseconds
    }

    /// Throws ``Enough`` with the first picture, and for an answer that is no stream of pictures.
    func receive(_ part: BotHTTPPart) throws {
        switch part {
        case .head(let head):
            guard head.status == 200, let type = head.headers["content-type"]?.first,
                let parser = try? MJPEGParser(contentType: type)
            else { throw Enough() }
            self.parser = parser
        case .body(let bytes):
            let now = Duration.milliseconds(clock.monotonicMilliseconds.clampedSubtracting(started))
            // Pictures that come faster than the pace are dropped, not kept.
            for frame in parser?.consume(bytes) ?? [] where pacer.admits(at: now) {
                picture = frame
                pacer.finished()
                throw Enough()
            }
        }
    }
}
