import BotKit
import Synchronization

/// Files of the configuration's folder.
struct GreetingFiles: BotFiles {
    private let files: [String: [UInt8]]

    init(_ files: [String: [UInt8]]) {
        self.files = files
    }

    var services: BotServices { BotServices(files: self) }

    func read(_ path: String, maximumBytes: Int) async throws(BotError) -> [UInt8] {
        guard let file = files[path] else { throw BotError(.noFile, "\(path): no such file") }
        return file
    }
}

/// A program that returns the same text for every recording, or fails.
final class Transcriber: BotPrograms {
    private let text: String?
    private let asked = Mutex<[BotProgramRun]>([])

    init(_ text: String?) {
        self.text = text
    }

    var services: BotServices { BotServices(programs: self) }
    var runs: [BotProgramRun] { asked.withLock { $0 } }

    func run(_ program: BotProgramRun) async throws(BotError) -> [UInt8] {
        asked.withLock { $0.append(program) }
        guard let text else { throw BotError(.programFailed, "exit status 1") }
        return Array(text.utf8)
    }
}
