import Errors
package import Nostr
import PikaCore

/// The reply to a command.
package enum DaemonReply: Hashable, Sendable {
    case ok(requestID: String?, result: JSONObject?)
    case error(requestID: String?, DaemonFailure)

    init(to requestID: String?, _ result: Result<JSONObject, DaemonFailure>) {
        switch result {
        case .success(let fields): self = .ok(requestID: requestID, result: fields)
        case .failure(let failure): self = .error(requestID: requestID, failure)
        }
    }

    /// Encodes the reply as one line, without its line ending; absent fields are left out.
    package var line: String {
        var object = JSONObject()
        switch self {
        case .ok(let requestID, let result):
            object["type"] = "ok"
            object["request_id"] = requestID.map(JSONValue.string)
            object["result"] = result.map(JSONValue.object)
        case .error(let requestID, let failure):
            object["type"] = "error"
            object["request_id"] = requestID.map(JSONValue.string)
            object["code"] = .string(failure.code.description)
            object["message"] = .string(failure.message)
            object["action"] = failure.action.map { .string($0.rawValue) }
        }
        return JSONValue.object(object).jsonText
    }
}
