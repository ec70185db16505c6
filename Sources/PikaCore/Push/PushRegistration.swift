public import Nostr

/// A device of this account that a push server may wake (MIP-05), as ``AppAction/registerPushToken(_:)`` shares it.
public struct PushRegistration: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    /// The push service that issued the token.
    public enum Platform: String, Sendable, CaseIterable {
        /// Apple Push Notification service.
        case apns
        /// Firebase Cloud Messaging.
        case fcm
    }

    /// The push server's public key; only the server can read the token.
    public let server: PublicKey
    /// The relay that has the server's list of inbox relays (kind 10050).
    public let relay: RelayURL
    /// The push service that issued the token.
    public let platform: Platform
    /// The token, which is secret: anyone who has it can wake the device.
    let token: [UInt8]

    /// Creates a registration; the action checks that the token has 1 to 1,021 bytes.
    public init(server: PublicKey, relay: RelayURL, platform: Platform, token: [UInt8]) {
        self.server = server
        self.relay = relay
        self.platform = platform
        self.token = token
    }

    /// Server, relay and platform, without the token.
    public var description: String {
        "PushRegistration(\(self.platform.rawValue), server \(self.server.hex), relay \(self.relay.string))"
    }

    /// Has no children, because the token is secret.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
