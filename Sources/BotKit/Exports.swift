// Events consist of these modules' types, and a bot imports only BotKit: their members must be exported with it.
@_exported public import CallMedia
@_exported public import Logging
@_exported public import Nostr
@_exported public import PikaCore
