package import Nostr
package import PikaCore

/// Events that the daemon sends (docs/daemon.md). Ids and keys are hex.
package enum DaemonEvent: Hashable, Sendable {
    case ready(account: PublicKey)
    case keyPackagePublished(EventID)
    case welcomeReceived(DaemonWelcome)
    case groupJoined(DaemonGroup)
    case groupCreated(DaemonGroup, peer: PublicKey)
    case groupUpdated(DaemonGroupUpdate)
    case groupChanged(DaemonGroupChange)
    case proposalReceived(DaemonProposal)
    case messageReceived(DaemonMessage)
    case withdrawn(DaemonWithdrawal)
    /// An item of a feed; only external bots get them.
    case feedItem(DaemonFeedItem)
    /// The outcome of a command's action; only for clients that asked for outcomes, and external bots.
    case outcome(DaemonOutcome)
    case callInviteReceived(callID: String, from: PublicKey, nostrGroupID: String)
    case callSessionStarted(callID: String, nostrGroupID: String, from: PublicKey)
    case callSessionEnded(callID: String, reason: String)
    case callDebug(callID: String, sent: UInt64, received: UInt64, dropped: UInt64)
    case callAudioChunk(callID: String, path: String, sampleRate: Int64, channels: Int64)
    case callData(callID: String, payload: [UInt8], track: String)
    /// The state of the remote signer of the daemon's account, or, without an account, of a login in progress.
    case signerState(AppState.SignerStatus, PublicKey?)
    /// An event as it is stored in the log.
    case recorded(JSONObject)

    /// Protocol version in `ready`.
    package static let protocolVersion: Int64 = 1

    /// Encodes the event as one line, without its line ending. Only clients that requested the extension get a
    /// cursor and a message's tags.
    package func line(cursor: Int64? = nil) -> String {
        var object = self.json
        if cursor != nil, case .messageReceived(let message) = self, !message.tags.isEmpty {
            object["tags"] = .array(message.tags.map { .array($0.values.map(JSONValue.string)) })
        }
        object["cursor"] = cursor.map(JSONValue.integer)
        return JSONValue.object(object).jsonText
    }

    var isGroupUpdate: Bool {
        switch self {
        case .groupUpdated: true
        case .recorded(let object): object["type"] == "group_updated"
        default: false
        }
    }

    /// The chat to whose members the event is restricted; nil for events that also concern non-members.
    var chatOfMembers: String? {
        let json = self.json
        let update = json["update"]
        switch json["type"]?.string {
        case "group_updated" where update?["kind"]?.string != DaemonGroupUpdate.Kind.left.rawValue:
            return update?["nostr_group_id"]?.string
        case "message_received", "withdrawn", "group_changed", "proposal_received", "group_joined", "group_created",
            "call_invite_received", "call_session_started":
            return json["nostr_group_id"]?.string
        default: return nil
        }
    }

    var type: String { self.json["type"]?.string ?? "" }

    var json: JSONObject {
        switch self {
        case .ready(let account):
            [
                "type": "ready", "protocol_version": .integer(Self.protocolVersion), "pubkey": .string(account.hex),
                "npub": .string(account.npub),
            ]
        case .keyPackagePublished(let id): ["type": "keypackage_published", "event_id": .string(id.hex)]
        case .welcomeReceived(let welcome): welcome.fields(after: ["type": "welcome_received"])
        case .groupJoined(let group):
            [
                "type": "group_joined", "nostr_group_id": .string(group.nostrGroupID),
                "mls_group_id": .string(group.chatID.rawValue), "member_count": .integer(Int64(group.members.count)),
                "protocol": group.protocolName,
            ]
        case .groupCreated(let group, let peer):
            [
                "type": "group_created", "nostr_group_id": .string(group.nostrGroupID),
                "mls_group_id": .string(group.chatID.rawValue), "peer_pubkey": .string(peer.hex),
                "member_count": .integer(Int64(group.members.count)), "protocol": group.protocolName,
            ]
        case .groupUpdated(let update): ["type": "group_updated", "update": .object(update.json)]
        case .groupChanged(let change): change.json
        case .proposalReceived(let proposal): proposal.json
        case .messageReceived(let message): message.json
        case .withdrawn(let withdrawal): withdrawal.json
        case .feedItem(let item): item.json
        case .outcome(let outcome): outcome.json
        case .recorded(let object): object
        case .signerState(let status, let account): Self.json(of: status, account)
        case .callInviteReceived, .callSessionStarted, .callSessionEnded, .callDebug, .callAudioChunk, .callData:
            self.callJSON
        }
    }

    private static func json(of status: AppState.SignerStatus, _ account: PublicKey?) -> JSONObject {
        var object: JSONObject = ["type": "signer_state"]
        object["pubkey"] = account.map { .string($0.hex) }
        switch status {
        case .unknown: object["state"] = "unknown"
        case .ready: object["state"] = "ready"
        case .away(let reason):
            object["state"] = "away"
            object["reason"] = .string(reason)
        case .refused(let reason):
            object["state"] = "refused"
            object["reason"] = .string(reason)
        case .needsApproval(let url):
            object["state"] = "needs_approval"
            object["url"] = .string(url)
        }
        return object
    }

    private var callJSON: JSONObject {
        switch self {
        case .callInviteReceived(let callID, let peer, let nostrGroupID):
            [
                "type": "call_invite_received", "call_id": .string(callID), "from_pubkey": .string(peer.hex),
                "nostr_group_id": .string(nostrGroupID),
            ]
        case .callSessionStarted(let callID, let nostrGroupID, let peer):
            [
                "type": "call_session_started", "call_id": .string(callID), "nostr_group_id": .string(nostrGroupID),
                "from_pubkey": .string(peer.hex),
            ]
        case .callSessionEnded(let callID, let reason):
            ["type": "call_session_ended", "call_id": .string(callID), "reason": .string(reason)]
        case .callDebug(let callID, let sent, let received, let dropped):
            [
                "type": "call_debug", "call_id": .string(callID), "tx_frames": .integer(Int64(clamping: sent)),
                "rx_frames": .integer(Int64(clamping: received)), "rx_dropped": .integer(Int64(clamping: dropped)),
            ]
        case .callAudioChunk(let callID, let path, let sampleRate, let channels):
            [
                "type": "call_audio_chunk", "call_id": .string(callID), "audio_path": .string(path),
                "sample_rate": .integer(sampleRate), "channels": .integer(channels),
            ]
        case .callData(let callID, let payload, let track):
            [
                "type": "call_data", "call_id": .string(callID), "payload_hex": .string(Hex.encode(payload)),
                "track_name": .string(track),
            ]
        default: [:]
        }
    }
}
