/// Push notifications (MIP-05), for accounts whose members use clients with push tokens, or that have a device of their
/// own. The settings belong to the account, and outlast restarts and the bot.
extension BotContext {
    /// Asks the push servers of other members to wake their devices whenever a relay has a chat message or hypernote of
    /// the account; false ends that.
    @discardableResult
    public func setPushNotifications(_ isOn: Bool) -> ActionID { dispatch(.setPushNotifications(isOn)) }

    /// Registers a device of the account with a push server, in place of an earlier one, and shares its encrypted token
    /// in all groups.
    @discardableResult
    public func registerPushToken(_ registration: PushRegistration) -> ActionID {
        dispatch(.registerPushToken(registration))
    }

    /// Removes the account's push token, and withdraws it in all groups.
    @discardableResult
    public func removePushToken() -> ActionID { dispatch(.removePushToken) }
}
