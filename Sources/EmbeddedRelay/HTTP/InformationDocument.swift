import Nostr

extension RelayConfiguration {
    /// The relay's NIP-11 document.
    var information: RelayInformation {
        var limitation = RelayInformation.Limitation()
        limitation.maxMessageLength = limits.messageBytes
        limitation.maxSubscriptions = limits.subscriptionsPerConnection
        limitation.maxLimit = limits.eventsPerFilter
        limitation.defaultLimit = limits.defaultEventsPerFilter
        limitation.maxSubscriptionIDLength = limits.subscriptionIDBytes
        limitation.maxEventTags = limits.tagsPerEvent
        limitation.createdAtUpperLimit = limits.secondsIntoFuture.flatMap(Int.init(exactly:))
        limitation.authenticationRequired = requireAuthentication
        limitation.paymentRequired = false
        limitation.restrictedWrites = requireAuthentication
        return RelayInformation(
            name: name, description: summary, pubkey: operatorKey, supportedNIPs: [1, 9, 11, 40, 42, 45, 70],
            software: "pikabot",
            limitation: limitation)
    }
}
