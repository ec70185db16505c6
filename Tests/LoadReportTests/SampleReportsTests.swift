import Foundation
import LoadReport
import Testing

/// Writes sample reports, which `Tests/Interop/load_reports.py` validates with other programs.
@Suite struct SampleReportsTests {
    private static let folder = ProcessInfo.processInfo.environment["LOAD_REPORT_SAMPLES"]

    @Test(.enabled(if: folder != nil, "LOAD_REPORT_SAMPLES is not set"))
    func writesEveryFormat() throws {
        let folder = URL(fileURLWithPath: try #require(Self.folder), isDirectory: true)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let results = [
            "plain": try SyntheticRun.result(), "small": try SmallRun.result(), "hostile": try HostileRun.result(),
            "empty": EmptyRun.result(),
            "long": LongRun.result(),
        ]
        for (name, result) in results {
            let files = try ReportFormat.allCases.flatMap { try $0.files(of: result, base: name) }
            for file in files {
                try file.contents.write(to: folder.appending(path: file.name), atomically: true, encoding: .utf8)
            }
        }
    }
}
