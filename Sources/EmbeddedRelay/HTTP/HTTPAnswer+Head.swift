import NIOCore
import NIOHTTP1

extension HTTPAnswer {
    /// The head of the response, with the headers that every answer has.
    func head(to request: HTTPRequestHead, isLast: Bool) -> HTTPResponseHead {
        var headers = headers
        headers.replaceOrAdd(name: "Access-Control-Allow-Origin", value: "*")
        // The star does not stand for Authorization.
        headers.replaceOrAdd(name: "Access-Control-Allow-Headers", value: "Authorization, *")
        headers.replaceOrAdd(name: "Access-Control-Expose-Headers", value: "*")
        if status != .noContent { headers.replaceOrAdd(name: "Content-Length", value: "\(length)") }
        if let contentType { headers.replaceOrAdd(name: "Content-Type", value: contentType) }
        if isLast { headers.replaceOrAdd(name: "Connection", value: "close") }
        return HTTPResponseHead(version: request.version, status: status, headers: headers)
    }
}
