import BotConfiguration
import Diagnosis
import Foundation

/// Checks that the programs of an account's external bots exist.
struct ProgramFindings: Sendable {
    let account: AccountConfiguration
    let environment: [String: String]

    private static let scriptEndings = [".py", ".sh", ".js", ".mjs", ".ts", ".rb", ".pl", ".lua", ".php"]

    init(_ account: AccountConfiguration, environment: [String: String]) {
        self.account = account
        self.environment = environment
    }

    func run(subject: String) -> [Finding] {
        var findings = FindingList(subject)
        for bot in account.bots {
            guard case .external(let program) = bot.source else { continue }
            examine(bot.name, program, &findings)
        }
        return findings.all
    }

    private func examine(_ name: String, _ program: ExternalBotConfiguration, _ findings: inout FindingList) {
        let check = "program \(name)"
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: program.directory, isDirectory: &isFolder), isFolder.boolValue
        else {
            findings.error(
                check, "its directory \(program.directory) does not exist", "create it, or correct `directory:`")
            return
        }
        guard let command = program.command.first, let path = executable(command, in: program.directory) else {
            let command = program.command.first ?? ""
            findings.error(
                check, "\(command) does not exist or is not executable",
                "install it, or write its full path in `command:`"
            )
            return
        }
        if let script = script(of: program), !FileManager.default.isReadableFile(atPath: script) {
            findings.error(check, "\(script) cannot be read", "correct `command:`; paths are relative to `directory:`")
            return
        }
        findings.ok(check, "runs \(path)")
    }

    private func executable(_ command: String, in folder: String) -> String? {
        let folders = (environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin").split(separator: ":")
        let candidates =
            command.contains("/") ? [Self.path(command, in: folder)] : folders.map { "\($0)/\(command)" }
        return candidates.first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// Returns the first argument that names a script, such as `bot.py` in `python3 -u bot.py`.
    private func script(of program: ExternalBotConfiguration) -> String? {
        program.command.dropFirst()
            .first { word in !word.hasPrefix("-") && Self.scriptEndings.contains { word.hasSuffix($0) } }
            .map { Self.path($0, in: program.directory) }
    }

    private static func path(_ path: String, in folder: String) -> String {
        path.hasPrefix("/") ? path : "\(folder)/\(path)"
    }
}
