import BotProgram
import Foundation
import Nostr

/// Sends one command to a running daemon: writes a line of JSON, and reads lines until the reply (docs/daemon.md).
enum DaemonConnection {
    /// Returns the reply's result; null if it has none. Throws ``CommandError`` with the daemon's code and message.
    static func call(_ request: JSONObject, stateDirectory: String) throws -> JSONValue {
        let path = DaemonSocketPath.path(stateDirectory: stateDirectory)
        guard DaemonSocketPath.isGenuine(path, stateDirectory: stateDirectory) else {
            throw CommandError("\(path): belongs to another user than \(stateDirectory); ask that user to remove it")
        }
        return try call(request, path: path)
    }

    static func call(_ request: JSONObject, path: String) throws -> JSONValue {
        let id = "remote-\(UUID().uuidString)"
        var request = request
        request["request_id"] = .string(id)
        guard let socket = try LineSocket(path: path) else {
            throw CommandError(
                "\(path): no daemon is listening; start one with: pikabot daemon, or omit --remote")
        }
        try socket.write(JSONValue.object(request).jsonText)
        while let line = try socket.readLine() {
            guard let answer = try? JSONValue(json: line), answer["request_id"]?.string == id else { continue }
            switch answer["type"]?.string {
            case "ok": return answer["result"] ?? .null
            case "error":
                let code = answer["code"]?.string ?? "unknown"
                throw CommandError("the daemon answered \(code): \(answer["message"]?.string ?? "no reason")")
            default: continue
            }
        }
        throw CommandError("the daemon closed the connection before answering")
    }
}
