import Foundation
import LoadReport
import Testing

@Suite struct ResultTests {
    @Test func roundTripsThroughJSON() throws {
        for result in [try SyntheticRun.result(), try HostileRun.result(), EmptyRun.result(), LongRun.result()] {
            #expect(try LoadResult(json: result.json()) == result)
        }
    }

    @Test func sameSeedGivesSameJSON() throws {
        #expect(try SyntheticRun.result().json() == SyntheticRun.result().json())
    }

    @Test func jsonHasExpectedFields() throws {
        let object = try #require(
            JSONSerialization.jsonObject(with: SyntheticRun.result().json()) as? [String: Any])
        #expect(object["schemaVersion"] as? Int == 1)
        #expect(object["passed"] as? Bool == false)
        #expect(object["endedAt"] as? String == "2026-11-22T00:00:45.650Z")
        let run = try #require(object["run"] as? [String: Any])
        #expect(run["seed"] as? Int == 7)
        let environment = try #require(run["environment"] as? [String: Any])
        #expect((environment["host"] as? [String: Any])?["build"] as? String == "release")
        let operations = try #require(object["operations"] as? [[String: Any]])
        let deliver = try #require(operations.first { $0["name"] as? String == "deliver" })
        let percentiles = (deliver["latency"] as? [String: Any])?["percentiles"] as? [String: Double]
        #expect(Set(percentiles?.keys.map { $0 } ?? []) == Set(LoadPercentile.allCases.map(\.rawValue)))
    }

    @Test func refusesOtherSchemaVersions() throws {
        let text = String(decoding: try EmptyRun.result().json(), as: UTF8.self)
        for version in ["0", "2", "-1"] {
            let other = text.replacingOccurrences(of: "\"schemaVersion\" : 1", with: "\"schemaVersion\" : \(version)")
            let error = #expect(throws: LoadReportError.self) { try LoadResult(json: Data(other.utf8)) }
            #expect(error?.code == .unsupportedSchema)
            #expect(error?.message.contains("expected schemaVersion 1, found \(version)") == true)
        }
    }

    @Test(arguments: [
        "", "null", "[]", "{}", "{\"schemaVersion\":\"1\"}", "{\"schemaVersion\":1}", "{\"schemaVersion\":1,",
        "{\"schemaVersion\":1,\"run\":7}", "{\"schemaVersion\":1e400}",
    ])
    func refusesOtherJSON(text: String) {
        let error = #expect(throws: LoadReportError.self) { try LoadResult(json: Data(text.utf8)) }
        #expect(error?.code == .malformedResult)
    }

    @Test func refusesDamagedResult() throws {
        let text = String(decoding: try SyntheticRun.result().json(), as: UTF8.self)
        for (part, other) in [
            ("\"p99.9\"", "\"p97\""), ("2026-11-22T00:00:00.250Z", "2026-13-22T00:00:00.250Z"),
            ("\"operations\"", "\"operation\""),
        ] {
            let damaged = text.replacingOccurrences(of: part, with: other)
            #expect(damaged != text)
            let error = #expect(throws: LoadReportError.self) { try LoadResult(json: Data(damaged.utf8)) }
            #expect(error?.code == .malformedResult)
        }
        #expect(throws: LoadReportError.self) { try LoadResult(json: Data(text.utf8.dropLast(20))) }
    }

    @Test(arguments: [
        (0, "1970-01-01T00:00:00.000Z"), (951_782_400_001, "2000-02-29T00:00:00.001Z"),
        (1_709_251_199_999, "2024-02-29T23:59:59.999Z"), (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
        (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
    ])
    func formatsWallTimes(milliseconds: Int64, text: String) throws {
        let time = WallTime(unixMilliseconds: milliseconds)
        #expect(time.description == text)
        #expect(try JSONDecoder().decode([WallTime].self, from: JSONEncoder().encode([time])) == [time])
    }

    @Test(arguments: [
        "2026-02-29T00:00:00.000Z", "2026-01-01T24:00:00.000Z", "2026-01-01T00:00:00Z", "2026-01-01 00:00:00.000Z",
        "2026-00-01T00:00:00.000Z", "-026-01-01T00:00:00.000Z", "20260101T000000000000000", "٢٠٢٦-01-01T00:00:00.0",
    ])
    func refusesInvalidWallTimes(text: String) {
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([WallTime].self, from: JSONEncoder().encode([text]))
        }
    }

    @Test func clampsWallTimes() {
        #expect(WallTime(unixMilliseconds: .min).unixMilliseconds == 0)
        #expect(WallTime(unixMilliseconds: .max).description == "9999-12-31T23:59:59.999Z")
        #expect(WallTime(unixMilliseconds: .max).advanced(by: .seconds(1)).description == "9999-12-31T23:59:59.999Z")
    }
}
