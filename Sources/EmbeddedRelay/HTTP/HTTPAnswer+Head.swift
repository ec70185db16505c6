import NIOCore
import NIOHTTP1
import Nostr

extension HTTPAnswer {
    /// Returns the response head, with the headers common to all responses.
    func head(to request: HTTPRequestHead, isLast: Bool, now: UnixTime) -> HTTPResponseHead {
        var headers = headers
        if let date = DateHeader.text(now) { headers.replaceOrAdd(name: "Date", value: date) }
        headers.replaceOrAdd(name: "Access-Control-Allow-Origin", value: "*")
        // The wildcard does not cover Authorization.
        headers.replaceOrAdd(name: "Access-Control-Allow-Headers", value: "Authorization, *")
        headers.replaceOrAdd(name: "Access-Control-Expose-Headers", value: "*")
        if status != .noContent { headers.replaceOrAdd(name: "Content-Length", value: "\(length)") }
        if let contentType { headers.replaceOrAdd(name: "Content-Type", value: contentType) }
        if isLast { headers.replaceOrAdd(name: "Connection", value: "close") }
        return HTTPResponseHead(version: request.version, status: status, headers: headers)
    }
}
