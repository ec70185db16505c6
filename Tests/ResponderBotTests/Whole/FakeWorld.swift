import BotKit
import Synchronization

/// A fake of the outside world: it records requests and returns the test's answers.
final class FakeWorld: BotHTTP, BotPrograms, BotSecrets, BotFiles {
    typealias Web = @Sendable (_ request: BotHTTPRequest, _ number: Int) async throws(BotError) -> BotHTTPResponse
    typealias Shell = @Sendable (_ program: BotProgramRun) throws(BotError) -> String

    private let web: Web
    private let shell: Shell
    private let asked = Mutex<[BotHTTPRequest]>([])
    private let ran = Mutex<[BotProgramRun]>([])

    init(
        web: @escaping Web = { _, _ throws(BotError) in throw BotError(.requestFailed, "connection refused") },
        shell: @escaping Shell = { _ throws(BotError) in throw BotError(.programFailed, "program not found") }
    ) {
        self.web = web
        self.shell = shell
    }

    var requests: [BotHTTPRequest] { asked.withLock { $0 } }
    var programs: [BotProgramRun] { ran.withLock { $0 } }

    var services: BotServices { BotServices(http: self, programs: self, secrets: self, files: self) }

    func send(_ request: BotHTTPRequest) async throws(BotError) -> BotHTTPResponse {
        let number = asked.withLock { asked in
            asked.append(request)
            return asked.count
        }
        return try await web(request, number)
    }

    func run(_ program: BotProgramRun) async throws(BotError) -> [UInt8] {
        ran.withLock { $0.append(program) }
        return Array(try shell(program).utf8)
    }

    func read(_ reference: BotSettings) async throws(BotError) -> String {
        guard let name = reference["env"]?.stringValue else { throw BotError(.noSecret, "only env: here") }
        return "secret of \(name)"
    }

    func read(_ path: String, maximumBytes: Int) async throws(BotError) -> [UInt8] {
        guard path == "cat.png" else { throw BotError(.noFile, "\(path): No such file or directory") }
        return [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
    }
}

extension BotHTTPResponse {
    static func ok(_ text: String) -> BotHTTPResponse { BotHTTPResponse(status: 200, body: Array(text.utf8)) }

    /// A response with a chat completion.
    static func saying(_ text: String, tokens: Int) -> BotHTTPResponse {
        let document: JSONValue = [
            "choices": [["message": ["role": "assistant", "content": .string(text)]]],
            "usage": ["total_tokens": .integer(Int64(tokens))],
        ]
        return BotHTTPResponse(status: 200, body: document.json())
    }
}

extension BotHTTPRequest {
    var document: JSONValue? { try? JSONValue(json: body) }
    /// The messages of a request to the model, with their roles.
    var turns: [String] {
        document?["messages"]?.array?.map { "\($0["role"]?.string ?? "?") \($0["content"]?.string ?? "?")" } ?? []
    }
    func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
}
