package import Nostr
package import PikaCore

extension KeyPackageAnnouncement {
    /// The reply to `publish_keypackage`: the kind 443 event and each relay's answer.
    package var json: JSONObject {
        var object = JSONObject()
        object["event_id"] = self.event.map { .string($0.hex) }
        object["relays"] = .array(self.keyPackage.map(\.json))
        if !self.relayLists.isEmpty { object["relay_lists"] = .array(self.relayLists.map(\.json)) }
        return object
    }
}

extension KeyPackageAnnouncement.RelayAnswer {
    fileprivate var json: JSONValue {
        let (status, reason): (String, String?) =
            switch self.answer {
            case .pending: ("pending", nil)
            case .stored: ("stored", nil)
            case .refused(let reason): ("refused", reason)
            case .unreachable(let reason): ("unreachable", reason)
            }
        var object: JSONObject = ["url": .string(self.relay.string), "status": .string(status)]
        object["reason"] = reason.map(JSONValue.string)
        return .object(object)
    }
}
