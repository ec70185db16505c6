// A bot's test speaks BotKit's types with every line: one import is enough.
@_exported public import BotKit
