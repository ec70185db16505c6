import NIOCore
import NIOHTTP1

/// Consumes the body of one request in parts, on one event loop.
protocol HTTPBodySink: AnyObject {
    /// Consumes the next part; the future completes when there is room for more. An ``HTTPRefusal`` becomes the
    /// response.
    func receive(_ part: ByteBuffer) -> EventLoopFuture<Void>

    /// Called when the body is complete.
    func finish() -> EventLoopFuture<HTTPAnswer>

    /// Called when the body will not be completed, or is no longer needed.
    func abandon()
}

/// An error response to a request.
struct HTTPRefusal: Error {
    let status: HTTPResponseStatus
    /// Reason for people; sent in the body and in the header `X-Reason` (BUD-01).
    let reason: String

    init(_ status: HTTPResponseStatus, _ reason: String) {
        self.status = status
        self.reason = reason
    }

    var answer: HTTPAnswer {
        var answer = HTTPAnswer.text(self.status, self.reason + "\n")
        // A header is one line of visible ASCII, whatever text the reason quotes.
        let line = String(
            decoding: self.reason.utf8.map { (0x20...0x7E).contains($0) ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
        answer.headers.add(name: "X-Reason", value: line)
        return answer
    }
}
