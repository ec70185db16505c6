import ConsolePages
import Foundation

/// The newest load reports of a folder.
actor LoadReportFolder {
    /// Reports that are read, and the largest file in bytes.
    private static let maximumReports = 5
    private static let maximumBytes = 16 << 20
    /// Files whose dates are compared.
    private static let maximumFiles = 2_000

    private struct Version: Hashable {
        let path: String
        let changed: Date
        let bytes: Int
    }

    private let path: String
    /// The reports that were shown last: the files seldom change, and a live page asks often.
    private var known: [Version: LoadPage.Report] = [:]

    init(path: String) {
        self.path = path
    }

    func newest() -> [LoadPage.Report] {
        let newest = versions().sorted { $0.changed > $1.changed }.prefix(Self.maximumReports)
        var reports: [Version: LoadPage.Report] = [:]
        for version in newest { reports[version] = known[version] ?? Self.read(version) }
        known = reports
        return newest.compactMap { reports[$0] }
    }

    private func versions() -> [Version] {
        let folder = URL(fileURLWithPath: path, isDirectory: true)
        let keys: Set<URLResourceKey> = [.contentModificationDateKey, .fileSizeKey, .isRegularFileKey]
        let files = try? FileManager.default.contentsOfDirectory(
            at: folder, includingPropertiesForKeys: Array(keys), options: .skipsHiddenFiles)
        return (files ?? []).filter { $0.pathExtension == "json" }.prefix(Self.maximumFiles).compactMap { file in
            guard let values = try? file.resourceValues(forKeys: keys), values.isRegularFile == true,
                let changed = values.contentModificationDate, let bytes = values.fileSize
            else { return nil }
            return Version(path: file.path, changed: changed, bytes: bytes)
        }
    }

    private static func read(_ version: Version) -> LoadPage.Report {
        let name = URL(fileURLWithPath: version.path).lastPathComponent
        guard version.bytes <= maximumBytes else {
            return LoadPage.Report(file: name, run: nil, failure: "the file is larger than 16 MiB")
        }
        guard let data = FileManager.default.contents(atPath: version.path) else {
            return LoadPage.Report(file: name, run: nil, failure: "the file cannot be read")
        }
        guard let run = try? JSONDecoder().decode(LoadRun.self, from: data),
            run.schemaVersion == LoadRun.supportedVersion
        else { return LoadPage.Report(file: name, run: nil, failure: "the file is not a load report of this version") }
        return LoadPage.Report(file: name, run: run)
    }
}
