/// An action that a viewer with the role `operate` may request. Each has a page that asks before it is done.
package enum ConsoleAction: Sendable, Hashable {
    case restart(account: String)
    case stop(account: String)
    case pause(account: String, bot: String)
    case resume(account: String, bot: String)
    case reload
    case accept(account: String, invitation: String)
    case decline(account: String, invitation: String)

    /// The last part of its path.
    package var name: String {
        switch self {
        case .restart: "restart"
        case .stop: "stop"
        case .pause: "pause"
        case .resume: "resume"
        case .reload: "reload"
        case .accept: "accept"
        case .decline: "decline"
        }
    }

    /// The fields of its form.
    package var fields: KeyValuePairs<String, String?> {
        switch self {
        case .restart(let account), .stop(let account): ["account": account]
        case .pause(let account, let bot), .resume(let account, let bot): ["account": account, "bot": bot]
        case .reload: [:]
        case .accept(let account, let invitation), .decline(let account, let invitation):
            ["account": account, "invitation": invitation]
        }
    }

    /// Parses the fields of a form; nil for an unknown action or a missing field.
    package init?(name: String, field: (String) -> String?) {
        func account(_ make: (String) -> ConsoleAction) -> ConsoleAction? { field("account").map(make) }
        func both(_ second: String, _ make: (String, String) -> ConsoleAction) -> ConsoleAction? {
            guard let account = field("account"), let value = field(second) else { return nil }
            return make(account, value)
        }
        let action: ConsoleAction? =
            switch name {
            case "restart": account { .restart(account: $0) }
            case "stop": account { .stop(account: $0) }
            case "pause": both("bot") { .pause(account: $0, bot: $1) }
            case "resume": both("bot") { .resume(account: $0, bot: $1) }
            case "reload": .reload
            case "accept": both("invitation") { .accept(account: $0, invitation: $1) }
            case "decline": both("invitation") { .decline(account: $0, invitation: $1) }
            default: nil
            }
        guard let action else { return nil }
        self = action
    }

    /// The page that asks for confirmation.
    package var path: ConsolePath { ConsolePath.action(name).with(fields) }

    /// The page to show afterwards.
    package var origin: ConsolePath {
        switch self {
        case .restart(let account), .stop(let account): .account(account)
        case .pause(let account, _), .resume(let account, _): .account(account)
        case .accept(let account, _), .decline(let account, _): .account(account)
        case .reload: .configuration
        }
    }

    /// The account that the action is about.
    package var account: String? {
        switch self {
        case .restart(let account), .stop(let account): account
        case .pause(let account, _), .resume(let account, _): account
        case .accept(let account, _), .decline(let account, _): account
        case .reload: nil
        }
    }

    /// The label of its button.
    package var label: String {
        switch self {
        case .restart: "Restart"
        case .stop: "Stop"
        case .pause: "Pause"
        case .resume: "Resume"
        case .reload: "Reload"
        case .accept: "Accept"
        case .decline: "Decline"
        }
    }

    /// The action in words, for the question and for the log of actions.
    package var text: String {
        switch self {
        case .restart(let account): "restart the account \(account)"
        case .stop(let account): "stop the account \(account)"
        case .pause(let account, let bot): "pause the bot \(bot) of \(account)"
        case .resume(let account, let bot): "resume the bot \(bot) of \(account)"
        case .reload: "reload the configuration file"
        case .accept(let account, let invitation): "accept the invitation \(invitation.prefix(12)) of \(account)"
        case .decline(let account, let invitation): "decline the invitation \(invitation.prefix(12)) of \(account)"
        }
    }

    /// What the action does, for the page that asks.
    package var consequence: String {
        switch self {
        case .restart:
            "Handlers in progress finish first, up to the configured time. Events that arrive meanwhile are read afterwards."
        case .stop: "The account answers nothing until somebody restarts it. The other accounts keep running."
        case .pause: "Events that arrive while the bot is paused are skipped. The pause outlasts restarts."
        case .resume: "Events that arrive from now on reach the bot again; those skipped meanwhile do not."
        case .reload:
            "Changes that can apply at once do so, and the others are listed. An invalid file changes nothing."
        case .accept: "The account joins the group, and its bots may answer the members."
        case .decline: "The invitation is dropped. The inviter is not notified."
        }
    }
}
