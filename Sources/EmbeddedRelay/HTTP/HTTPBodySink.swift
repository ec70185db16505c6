import NIOCore
import NIOHTTP1

/// Takes the body of one request part by part, on one event loop.
protocol HTTPBodySink: AnyObject {
    /// Takes the next part; the future ends when there is room for more. An ``HTTPRefusal`` becomes the answer.
    func take(_ part: ByteBuffer) -> EventLoopFuture<Void>

    /// The body is complete.
    func finish() -> EventLoopFuture<HTTPAnswer>

    /// The body will never be complete, or nobody wants it.
    func abandon()
}

/// What a request is answered with instead of what it asked for.
struct HTTPRefusal: Error {
    let status: HTTPResponseStatus
    /// For people; goes into the body and the header `X-Reason` (BUD-01).
    let reason: String

    init(_ status: HTTPResponseStatus, _ reason: String) {
        self.status = status
        self.reason = reason
    }

    var answer: HTTPAnswer {
        var answer = HTTPAnswer.text(self.status, self.reason + "\n")
        // A header is one line of visible ASCII, whatever the reason quotes.
        let line = String(
            decoding: self.reason.utf8.map { (0x20...0x7E).contains($0) ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
        answer.headers.add(name: "X-Reason", value: line)
        return answer
    }
}
