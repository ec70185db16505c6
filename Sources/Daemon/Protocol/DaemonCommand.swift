import Nostr

/// A command of the pikachat daemon protocol, version 1 (docs/daemon.md), with its defaults filled in.
///
/// Keys and ids are unparsed strings; they are validated when the command runs.
package enum DaemonCommand: Hashable, Sendable {
    case publishKeyPackage(relays: [String])
    case setRelays([String])
    case listPendingWelcomes
    /// The id of the gift wrap, or of the Welcome inside it.
    case acceptWelcome(id: String)
    case listGroups
    case addMembers(group: String, peers: [String], onMissing: String? = nil)
    case listMembers(group: String)
    case removeMembers(group: String, peers: [String])
    /// The successor becomes an admin first.
    case leaveGroup(String, successor: String? = nil)
    case updateGroupProfile(group: String, name: String, about: String)
    case getGroupProfile(group: String)
    case uploadGroupProfileImage(group: String, imageBase64: String, mimeType: String)
    case hypernoteCatalog
    case sendMessage(group: String, content: String)
    case sendHypernote(group: String, content: String, title: String?, state: String?)
    case react(group: String, eventID: String, emoji: String)
    case submitHypernoteAction(group: String, eventID: String, action: String, form: [String: String])
    case sendMedia(group: String, File, caption: String, servers: [String])
    case sendMediaBatch(group: String, paths: [String], caption: String, servers: [String])
    case sendTyping(group: String)
    case inviteCall(CallInvitation)
    /// The current call, or the one that ended last.
    case getCall
    case acceptCall(String)
    case rejectCall(String, reason: String)
    case endCall(String, reason: String)
    case sendAudioResponse(call: String, text: String)
    case sendAudioFile(call: String, path: String, sampleRate: UInt32, channels: UInt16)
    case sendCallData(call: String, payloadHex: String, track: String?)
    case initGroup(peer: String, name: String, groupProtocol: String? = nil)
    /// `init_group` with several peers.
    case foundGroup(peers: [String], name: String, onMissing: String? = nil, groupProtocol: String? = nil)
    case renameGroup(group: String, name: String)
    case describeGroup(group: String, description: String)
    case setGroupAdmins(group: String, admins: [String])
    case setGroupRelays(group: String, relays: [String])
    case disbandGroup(String)
    case enableDisbanding(String)
    case getMessages(group: String, limit: Int, before: Place? = nil)
    case registerPushToken(PushToken)
    case removePushToken
    case setPushNotifications(Bool)
    case shutdown
    case listAccounts
    case logIn(Login)
    /// A nil `account` is the daemon's own.
    case logOut(account: String?, erases: Bool)
    /// The extension's first command.
    case hello(Hello)
    /// A program has handled an event.
    case acknowledge(cursor: Int64)

    package struct File: Hashable, Sendable {
        package var path: String
        package var mimeType: String?
        package var filename: String?
    }

    /// The place of a message in its group's history, as `get_messages` returns it.
    package struct Place: Hashable, Sendable {
        package var createdAt: Int64
        package var messageID: String
    }

    package struct PushToken: Hashable, Sendable {
        package var server: String
        package var relay: String
        package var platform: String
        package var tokenHex: String
    }

    package struct CallInvitation: Hashable, Sendable {
        package var group: String
        package var peer: String
        package var callID: String?
        package var moqURL: String
        package var broadcastBase: String?
        package var trackName: String?
        package var trackCodec: String?
        package var relayAuth: String?
    }

    /// Fields of `login`. Without any it creates a key; `account` selects an account of the state directory.
    package struct Login: Hashable, Sendable {
        package var account: String?
        package var nsecFile: String?
        package var ncryptsecFile: String?
        package var passwordFile: String?
        /// Contains a secret.
        package var bunker: String?
    }

    /// Fields of a client's `hello`.
    package struct Hello: Hashable, Sendable {
        /// The requested protocol version, at least 2.
        package var version: Int64
        /// A name for logs.
        package var client: String?
        package var token: String?
        /// Cursor after which events are to be replayed.
        package var cursor: Int64?
        /// Whether the connection receives events; that of standard output always does.
        package var subscribes: Bool
        /// Whether an event counts as consumed only after ``DaemonCommand/acknowledge(cursor:)``.
        package var acknowledges = false
        /// Whether the outcomes of the connection's commands are reported as events.
        package var wantsOutcomes = false
    }

    /// Whether the command is one action of the core, whose outcome can be reported as an event.
    var hasOutcome: Bool {
        switch self {
        case .acceptWelcome, .addMembers, .removeMembers, .leaveGroup, .updateGroupProfile, .uploadGroupProfileImage,
            .sendMessage, .sendHypernote, .react, .submitHypernoteAction, .sendMedia, .sendMediaBatch, .inviteCall,
            .acceptCall, .rejectCall, .endCall, .initGroup, .foundGroup, .renameGroup, .describeGroup, .setGroupAdmins,
            .setGroupRelays, .disbandGroup, .enableDisbanding:
            true
        case .publishKeyPackage, .setRelays, .listPendingWelcomes, .listGroups, .listMembers, .getGroupProfile,
            .hypernoteCatalog, .getCall, .sendTyping, .sendAudioResponse, .sendAudioFile, .sendCallData, .getMessages,
            .registerPushToken, .removePushToken, .setPushNotifications, .shutdown, .listAccounts, .logIn, .logOut,
            .hello, .acknowledge:
            false
        }
    }

    /// Whether the command may change something.
    var isMutating: Bool {
        switch self {
        case .listPendingWelcomes, .listGroups, .listMembers, .getGroupProfile, .hypernoteCatalog, .getMessages,
            .listAccounts, .getCall, .hello, .acknowledge:
            false
        default: true
        }
    }
}

/// Shows no field, because the signer's address contains a secret.
extension DaemonCommand.Login: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "login (not shown)" }
    package var debugDescription: String { self.description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// Shows no field, because the device's token is secret.
extension DaemonCommand.PushToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "push token (not shown)" }
    package var debugDescription: String { self.description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// A parsed command line.
package struct DaemonRequest: Hashable, Sendable {
    package var command: DaemonCommand
    /// The command's name on the wire.
    package var name: String
    /// Returned with the reply.
    package var requestID: String?
    /// Part of the extension.
    package var idempotencyKey: String?
    /// Whether the command's outcome is reported as an event; nil if `hello` decides.
    package var wantsOutcome: Bool?
    /// The command without its two ids and the wish for its outcome, normalised: equal commands have equal texts.
    var fingerprintText: String
}

extension DaemonRequest {
    /// Returns the daemon's own request to accept an invitation.
    static func accepting(_ wrapper: EventID) -> DaemonRequest {
        DaemonRequest(
            command: .acceptWelcome(id: wrapper.hex), name: "accept_welcome", requestID: "auto-accept",
            idempotencyKey: nil, fingerprintText: "")
    }

    /// Parses a line. Ignores unknown fields; throws `DaemonFailure.Code.parseError` for any other mistake, as the
    /// pikachat daemon does.
    package init(line: some StringProtocol) throws(DaemonFailure) {
        let json: JSONValue
        do { json = try JSONValue(json: Array(line.utf8)) } catch {
            throw DaemonFailure(.parseError, "invalid JSON: \(error.message)")
        }
        guard var object = json.object else { throw DaemonFailure(.parseError, "a command must be a JSON object") }
        let fields = CommandFields(object)
        self.name = try fields.text("cmd")
        self.requestID = try fields.optionalText("request_id")
        self.idempotencyKey = try fields.optionalText("idempotency_key")
        if let key = self.idempotencyKey, key.isEmpty || key.utf8.count > 200 {
            throw DaemonFailure(.parseError, "idempotency_key must have 1 to 200 bytes")
        }
        self.wantsOutcome = try fields.optionalFlag("outcome")
        self.command = try DaemonCommand(name: self.name, fields)
        object["request_id"] = nil
        object["idempotency_key"] = nil
        object["outcome"] = nil
        self.fingerprintText = JSONValue.object(object).jsonText
    }

    /// Returns the request id of a JSON object, which may be nil inside; nil for any other text.
    static func requestID(of line: String) -> String?? {
        guard let object = try? JSONValue(json: line).object else { return nil }
        return .some(object["request_id"]?.string)
    }
}
