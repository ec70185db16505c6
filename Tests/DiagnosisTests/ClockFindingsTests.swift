import Testing

@testable import Diagnosis

@Suite struct ClockFindingsTests {
    @Test(
        arguments: [
            ([0.4], Finding.Level.ok), ([29, 30, -30], .ok), ([31, 31, 0], .warning), ([-300, -300, -300], .warning),
            ([301, 400, 0], .error), ([-90_000], .error), ([], .ok), ([1e300, .infinity], .error),
        ] as [([Double], Finding.Level)])
    func judgesMedianOffset(offsets: [Double], level: Finding.Level) {
        #expect(ClockFindings.judge(offsets).map(\.level) == [level])
    }

    @Test func reportsDirectionOfOffset() {
        #expect(ClockFindings.judge([100]).first?.text == "100 s behind the servers (1 queried)")
        #expect(ClockFindings.judge([-100]).first?.text == "100 s ahead of the servers (1 queried)")
    }

    @Test func parsesHTTPDates() {
        #expect(HTTPProbe.time("Sun, 06 Nov 1994 08:49:37 GMT") == 784_111_777.5)
        #expect(HTTPProbe.time("1994-11-06T08:49:37Z") == nil)
        #expect(HTTPProbe.time("") == nil)
    }
}
