import Testing

@testable import Telemetry

struct HTTPRequestTests {
    @Test func decodesPathAndQuery() throws {
        let request = try #require(HTTPRequest(target: "/pro%62e?target=wss%3A%2F%2Fa.example&x&y=1+2%2B3&y=4"))
        #expect(request.path == "/probe")
        #expect(request["target"] == "wss://a.example")
        #expect(request["x"] == "")
        #expect(request.query.filter { $0.name == "y" }.map(\.value) == ["1 2+3", "4"])
        #expect(request["z"] == nil)
    }

    @Test(arguments: ["", "metrics", "http://a/metrics", "*", "/%", "/%4", "/%zz", "/%ff", "/?a=%", "/?%c3=1"])
    func refusesOtherTargets(_ target: String) {
        #expect(HTTPRequest(target: target) == nil)
    }
}
