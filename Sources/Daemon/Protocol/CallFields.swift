import Nostr
import PikaCore

extension AppState.ActiveCall {
    /// The call, for `get_call`.
    func json(in nostrGroupID: String) -> JSONObject {
        var json: JSONObject = [
            "call_id": .string(self.callID), "nostr_group_id": .string(nostrGroupID),
            "peer_pubkey": .string(self.peer.hex), "is_outgoing": .bool(self.isOutgoing),
            "phase": .string(self.phase.name), "is_video": .bool(self.isVideo), "is_muted": .bool(self.isMuted),
            "is_camera_on": .bool(self.isCameraOn), "started_at": .integer(self.startedAt.seconds),
        ]
        json["connected_at"] = self.connectedAt.map { .integer($0.seconds) }
        if case .ended(let reason) = self.phase { json["reason"] = .string(reason) }
        json["is_live"] = .bool(self.isLive)
        json["should_auto_present_call_screen"] = .bool(self.shouldAutoPresentCallScreen)
        json["should_enable_proximity_lock"] = .bool(self.shouldEnableProximityLock)
        return json
    }
}

extension AppState.ActiveCall.Phase {
    fileprivate var name: String {
        switch self {
        case .offering: "offering"
        case .ringing: "ringing"
        case .connecting: "connecting"
        case .active: "active"
        case .ended: "ended"
        }
    }
}
