import Nostr

/// The response to a request, one line.
struct NodeResponse: Sendable {
    /// The outcome of a request.
    enum Body: Sendable {
        case initialized(account: String)
        /// Empty lists and nil are left out.
        case done(action: String, published: Int, messages: [String] = [], groupID: String? = nil)
        case observation(action: String, JSONValue)
        case barrierReady(action: String, name: String)
        case shutdown
        case failed(NodeFailure)
    }

    let request: String
    /// The node's label; nil before it is initialized.
    let participant: String?
    let body: Body

    /// The line, without its line feed.
    var line: String {
        let json: JSONValue = [
            "protocol": .string(NodeRequest.protocolName), "request_id": .string(self.request),
            "participant": self.participant.map { JSONValue.string($0) } ?? .null, "body": .object(self.body.json),
        ]
        return json.jsonText
    }
}

extension NodeResponse.Body {
    fileprivate var json: JSONObject {
        switch self {
        case .initialized(let account): return ["type": "initialized", "account_id": .string(account)]
        case .done(let action, let published, let messages, let groupID):
            var json: JSONObject = [
                "type": "ack", "action_id": .string(action), "published": .integer(Int64(published)),
            ]
            if !messages.isEmpty { json["message_ids"] = .array(messages.map { .string($0) }) }
            if let groupID { json["group_id_hex"] = .string(groupID) }
            return json
        case .observation(let action, let observation):
            return ["type": "observation", "action_id": .string(action), "observation": observation]
        case .barrierReady(let action, let name):
            return ["type": "barrier_ready", "action_id": .string(action), "barrier": .string(name)]
        case .shutdown: return ["type": "shutdown"]
        case .failed(let failure):
            return [
                "type": "error", "code": .string(failure.code), "category": .string(failure.category.rawValue),
                "retryable": .bool(failure.isRetryable), "message": .string(failure.message),
            ]
        }
    }
}
