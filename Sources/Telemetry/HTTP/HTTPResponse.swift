/// A response of the endpoint.
public struct HTTPResponse: Sendable, Hashable {
    public var status: Int
    public var contentType: String
    public var body: [UInt8]

    public init(status: Int = 200, contentType: String, body: [UInt8]) {
        self.status = status
        self.contentType = contentType
        self.body = body
    }

    public static func text(_ text: String, status: Int = 200) -> HTTPResponse {
        HTTPResponse(status: status, contentType: "text/plain; charset=utf-8", body: Array(text.utf8))
    }

    public static func json(_ bytes: some Sequence<UInt8>, status: Int = 200) -> HTTPResponse {
        HTTPResponse(status: status, contentType: "application/json", body: Array(bytes))
    }

    public static func metrics(_ families: [MetricFamily]) -> HTTPResponse {
        HTTPResponse(contentType: PrometheusText.contentType, body: Array(PrometheusText.render(families).utf8))
    }
}
