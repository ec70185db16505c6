/// A response of the endpoint.
package struct HTTPResponse: Sendable, Hashable {
    package var status: Int
    package var contentType: String
    package var body: [UInt8]

    package init(status: Int = 200, contentType: String, body: [UInt8]) {
        self.status = status
        self.contentType = contentType
        self.body = body
    }

    package static func text(_ text: String, status: Int = 200) -> HTTPResponse {
        HTTPResponse(status: status, contentType: "text/plain; charset=utf-8", body: Array(text.utf8))
    }

    package static func json(_ bytes: some Sequence<UInt8>, status: Int = 200) -> HTTPResponse {
        HTTPResponse(status: status, contentType: "application/json", body: Array(bytes))
    }

    package static func metrics(_ families: [MetricFamily]) -> HTTPResponse {
        HTTPResponse(contentType: PrometheusText.contentType, body: Array(PrometheusText.render(families).utf8))
    }
}
